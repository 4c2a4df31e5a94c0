// The closed-loop tree search in C++, for two games: a ceiling for the speed of the compiled search.
//
// It has the semantics of aleazero.Search with chance "sampling", PUCT, first_play "parent" and in_flight 1, and reads
// the same random streams, so visits are equal. Build with -ffp-contract=off: fused operations would change the bits.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

enum Kind : int8_t { DECISION = 0, CHANCE = 1, TERMINAL = 2 };
constexpr int NONE = -1;

// Random streams: the finalizer of SplitMix64 over a key and an index.
constexpr uint64_t GOLDEN = 0x9E3779B97F4A7C15ull;
constexpr uint64_t DESCENT = 0x64657363656E74ull;  // "descent"
constexpr uint64_t ROLLOUT = 0x726F6C6C6F7574ull;  // "rollout"
constexpr uint64_t ROOT_EVALUATION = ~0ull;

inline uint64_t mix(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
}
inline uint64_t extend(uint64_t key, uint64_t part) { return mix(key + GOLDEN + part); }
inline double unit(uint64_t key, uint64_t place) {
    return double(mix(key + GOLDEN * (place + 1)) >> 11) * (1.0 / 9007199254740992.0);
}

struct Pig {
    using Number = int16_t;
    static constexpr int SIZE = 5, PLAYERS = 2, ACTIONS = 2, TARGET = 100;
    static constexpr bool LEARNS_RANGE = false;
    static constexpr double LOW = -1.0, HIGH = 1.0;
    enum { SCORE = 0, TURN = 2, PLAYER = 3, KIND = 4 };

    static int kind(const Number* s) { return s[KIND]; }
    static int to_play(const Number* s) { return s[PLAYER]; }
    static int legal(const Number* s, int* out) {
        if (s[TURN] == 0) { out[0] = 0; return 1; }
        if (s[SCORE + s[PLAYER]] + s[TURN] >= TARGET) { out[0] = 1; return 1; }
        out[0] = 0;
        out[1] = 1;
        return 2;
    }
    static void apply(Number* s, int action) {
        if (action == 0) { s[KIND] = CHANCE; return; }
        const int player = s[PLAYER];
        s[SCORE + player] += s[TURN];
        s[TURN] = 0;
        if (s[SCORE + player] >= TARGET) s[KIND] = TERMINAL;
        else s[PLAYER] = Number(1 - player);
    }
    static int sample(const Number*, double u) { return 1 + int(u * 6); }
    static void apply_outcome(Number* s, int face) {
        s[KIND] = DECISION;
        if (face == 1) {
            s[TURN] = 0;
            s[PLAYER] = Number(1 - s[PLAYER]);
        } else {
            s[TURN] += Number(face);
        }
    }
    static void returns(const Number* s, double* out) {
        out[0] = out[1] = 0.0;
        if (s[KIND] == TERMINAL) {
            out[s[PLAYER]] = 1.0;
            out[1 - s[PLAYER]] = -1.0;
        }
    }
};

struct Twenty48 {
    using Number = int32_t;
    static constexpr int SIZE = 18, PLAYERS = 1, ACTIONS = 4, SIDE = 4, CELLS = 16;
    static constexpr bool LEARNS_RANGE = true;
    static constexpr double LOW = std::numeric_limits<double>::infinity(), HIGH = -LOW;
    enum { KIND = 16, SCORE = 17 };

    static int kind(const Number* s) { return s[KIND]; }
    static int to_play(const Number*) { return 0; }
    // Slides and scans have no branches on tiles: random boards defeat branch prediction.
    static int legal(const Number* s, int* out) {
        bool up = false, right = false, down = false, left = false;
        for (int cell = 0; cell < CELLS; cell++) {
            const int tile = s[cell];
            if (cell % SIDE != SIDE - 1) {
                const int next = s[cell + 1];
                const bool merge = (tile == next) & (tile != 0);
                left |= merge | ((tile == 0) & (next != 0));
                right |= merge | ((tile != 0) & (next == 0));
            }
            if (cell < CELLS - SIDE) {
                const int below = s[cell + SIDE];
                const bool merge = (tile == below) & (tile != 0);
                up |= merge | ((tile == 0) & (below != 0));
                down |= merge | ((tile != 0) & (below == 0));
            }
        }
        int count = 0;
        out[count] = 0; count += up;
        out[count] = 1; count += right;
        out[count] = 2; count += down;
        out[count] = 3; count += left;
        return count;
    }
    static void apply(Number* s, int action) {
        static constexpr int FIRST[] = {0, SIDE - 1, CELLS - SIDE, 0}, STEP[] = {SIDE, -1, -SIDE, 1},
                             ACROSS[] = {1, SIDE, 1, SIDE};
        int first = FIRST[action];
        const int step = STEP[action];
        int64_t gained = 0;
        for (int line = 0; line < SIDE; line++, first += ACROSS[action]) {
            int a = s[first], b = s[first + step], c = s[first + 2 * step], d = s[first + 3 * step];
            bool gap = c == 0;
            c = gap ? d : c; d = gap ? 0 : d;
            gap = b == 0;
            b = gap ? c : b; c = gap ? d : c; d = gap ? 0 : d;
            gap = a == 0;
            a = gap ? b : a; b = gap ? c : b; c = gap ? d : c; d = gap ? 0 : d;
            bool merge = (a == b) & (a != 0);
            gained += merge ? 2 << a : 0;
            a += merge; b = merge ? c : b; c = merge ? d : c; d = merge ? 0 : d;
            merge = (b == c) & (b != 0);
            gained += merge ? 2 << b : 0;
            b += merge; c = merge ? d : c; d = merge ? 0 : d;
            merge = (c == d) & (c != 0);
            gained += merge ? 2 << c : 0;
            c += merge; d = merge ? 0 : d;
            s[first] = a; s[first + step] = b; s[first + 2 * step] = c; s[first + 3 * step] = d;
        }
        s[SCORE] += Number(gained);
        s[KIND] = CHANCE;
    }
    static int sample(const Number* s, double u) {
        int empty = 0;
        for (int cell = 0; cell < CELLS; cell++) empty += s[cell] == 0;
        const double place = u * empty;
        int skip = int(place), chosen = NONE;
        const int four = place - skip >= 0.9;
        for (int cell = 0; cell < CELLS; cell++) {
            const bool free = s[cell] == 0;
            chosen = (free & (skip == 0)) ? cell : chosen;
            skip -= free;
        }
        return 2 * chosen + four;
    }
    static bool has_pair(const Number* s) {
        for (int cell = 0; cell < CELLS; cell++) {
            if (cell % SIDE != SIDE - 1 && s[cell] == s[cell + 1]) return true;
            if (cell < CELLS - SIDE && s[cell] == s[cell + SIDE]) return true;
        }
        return false;
    }
    static void apply_outcome(Number* s, int outcome) {
        s[outcome / 2] = 1 + outcome % 2;
        int tiles = 0;
        for (int cell = 0; cell < CELLS; cell++) tiles += s[cell] != 0;
        s[KIND] = tiles == 1 ? CHANCE : tiles < CELLS || has_pair(s) ? DECISION : TERMINAL;
    }
    static void returns(const Number* s, double* out) { out[0] = s[SCORE]; }
};

template <class Game>
class Tree {
    static constexpr int PLAYERS = Game::PLAYERS;
    using Number = typename Game::Number;

    struct Node {
        int32_t visits, first_edge, num_edges;
        int32_t first_child, next_child;  // outcomes of a chance node, as a list
        int32_t label;                    // action or outcome that leads here
        int8_t kind, mover, evaluated;
        double value_sums[PLAYERS];
        Number state[Game::SIZE];
    };
    struct Edge {
        double value_sum, prior;
        int32_t action, child, visits;
    };
    struct Step {
        int32_t node, edge;  // NONE at a chance node
    };

    std::vector<Node> nodes;
    std::vector<Edge> edges;
    std::vector<Step> path;
    int num_nodes = 0, num_edges = 0, max_depth = 0;
    double low[PLAYERS], high[PLAYERS];

    double scale(double value, int player) const {
        if (!(high[player] > low[player])) return 0.5;
        return std::min(1.0, std::max(0.0, (value - low[player]) / (high[player] - low[player])));
    }

    int new_node(int label) {
        Node& node = nodes[num_nodes];
        node.visits = 0;
        node.num_edges = 0;
        node.first_child = node.next_child = NONE;
        node.label = label;
        node.evaluated = 0;
        std::fill(node.value_sums, node.value_sums + PLAYERS, 0.0);
        return num_nodes++;
    }

    void enter(Node& node) {
        node.kind = int8_t(Game::kind(node.state));
        node.mover = int8_t(node.kind == DECISION ? Game::to_play(node.state) : NONE);
    }

    int new_child(const Node& parent, int label) {
        const int child = new_node(label);
        std::memcpy(nodes[child].state, parent.state, sizeof parent.state);
        return child;
    }

    int select(const Node& node, double c) const {
        int tried = 1;
        const Edge* all = &edges[node.first_edge];
        for (int slot = 0; slot < node.num_edges; slot++) tried += all[slot].visits;
        const double first_play = scale(node.value_sums[node.mover] / node.visits, node.mover);
        const double explore = c * std::sqrt(double(tried));
        double best_score = -std::numeric_limits<double>::infinity();
        int best = 0;
        for (int slot = 0; slot < node.num_edges; slot++) {
            const Edge& edge = all[slot];
            const double q = edge.visits == 0 ? first_play : scale(edge.value_sum / edge.visits, node.mover);
            const double score = q + explore * edge.prior / (1.0 + edge.visits);
            if (score > best_score) {
                best_score = score;
                best = slot;
            }
        }
        return node.first_edge + best;
    }

    int take_action(int parent, int e) {
        Edge& edge = edges[e];
        if (edge.child == NONE) {
            const int child = new_child(nodes[parent], edge.action);
            Game::apply(nodes[child].state, edge.action);
            enter(nodes[child]);
            edge.child = child;
        }
        return edge.child;
    }

    int take_outcome(int parent, int outcome) {
        int child = nodes[parent].first_child;
        while (child != NONE && nodes[child].label != outcome) child = nodes[child].next_child;
        if (child == NONE) {
            child = new_child(nodes[parent], outcome);
            Game::apply_outcome(nodes[child].state, outcome);
            enter(nodes[child]);
            nodes[child].next_child = nodes[parent].first_child;
            nodes[parent].first_child = child;
        }
        return child;
    }

    void expand(Node& node) {
        int actions[Game::ACTIONS + 1];  // 2048 writes one more than it returns
        const int count = Game::legal(node.state, actions);
        node.first_edge = num_edges;
        node.num_edges = count;
        for (int i = 0; i < count; i++) edges[num_edges++] = {0.0, 1.0 / count, actions[i], NONE, 0};
    }

    void play_out(const Node& start, uint64_t key, int max_steps, double* value) const {
        Number state[Game::SIZE];
        int actions[Game::ACTIONS + 1];
        std::memcpy(state, start.state, sizeof state);
        for (int step = 0; step < max_steps; step++) {
            const int kind = Game::kind(state);
            if (kind == TERMINAL) break;
            const double u = unit(key, step);
            if (kind == CHANCE) Game::apply_outcome(state, Game::sample(state, u));
            else Game::apply(state, actions[int(u * Game::legal(state, actions))]);
        }
        Game::returns(state, value);
    }

    void evaluate(const Node& node, uint64_t key, int playout_steps, double* value) const {
        if (node.kind == TERMINAL || playout_steps == 0) Game::returns(node.state, value);
        else play_out(node, extend(key, 0), playout_steps, value);
    }

    // A leaf that is not terminal is expanded, unless it is too deep.
    void store(Node& leaf, int depth) {
        if (leaf.kind == TERMINAL || leaf.evaluated) return;
        leaf.evaluated = 1;
        if (leaf.kind == DECISION && depth < max_depth) expand(leaf);
    }

    void back_up(const Node& leaf_, const double* value) {
        Node& leaf = const_cast<Node&>(leaf_);
        leaf.visits++;
        for (int p = 0; p < PLAYERS; p++) leaf.value_sums[p] += value[p];
        for (const Step& step : path) {
            Node& node = nodes[step.node];
            node.visits++;
            for (int p = 0; p < PLAYERS; p++) node.value_sums[p] += value[p];
            if (step.edge != NONE) {
                edges[step.edge].visits++;
                edges[step.edge].value_sum += value[node.mover];
            }
        }
        if (!Game::LEARNS_RANGE) return;
        for (const Step& step : path) {
            if (step.edge == NONE) continue;
            const int mover = nodes[step.node].mover;
            const double mean = edges[step.edge].value_sum / edges[step.edge].visits;
            low[mover] = std::min(low[mover], mean);
            high[mover] = std::max(high[mover], mean);
        }
    }

public:
    int search(const Number* root, int simulations, double c, uint64_t seed, int depth_limit, int playout_steps,
               int32_t* visits) {
        // A simulation adds at most a chance node and what follows it; 2048 may have a second chance node at the start.
        nodes.resize(std::max(nodes.size(), size_t(2 * simulations + 64)));
        edges.resize(std::max(edges.size(), size_t(Game::ACTIONS) * (simulations + 64)));
        num_nodes = num_edges = 0;
        max_depth = depth_limit;
        std::fill(low, low + PLAYERS, Game::LOW);
        std::fill(high, high + PLAYERS, Game::HIGH);
        const uint64_t descents = extend(extend(0, DESCENT), seed), playouts = extend(extend(0, ROLLOUT), seed);
        double value[PLAYERS];

        Node& top = nodes[new_node(NONE)];
        std::memcpy(top.state, root, sizeof top.state);
        enter(top);
        path.clear();
        evaluate(top, extend(playouts, ROOT_EVALUATION), playout_steps, value);
        store(top, 0);
        back_up(top, value);

        for (int simulation = 0; simulation < simulations; simulation++) {
            const uint64_t key = extend(descents, uint64_t(simulation));
            path.clear();
            int n = 0, depth = 0;
            for (;; depth++) {
                const Node& node = nodes[n];
                if (node.kind == TERMINAL) break;
                if (node.kind == CHANCE) {
                    path.push_back({n, NONE});
                    n = take_outcome(n, Game::sample(node.state, unit(key, depth)));
                } else {
                    if (!node.evaluated || depth >= max_depth) break;
                    const int e = select(node, c);
                    path.push_back({n, e});
                    n = take_action(n, e);
                }
            }
            Node& leaf = nodes[n];
            evaluate(leaf, extend(playouts, uint64_t(simulation)), playout_steps, value);
            store(leaf, depth);
            back_up(leaf, value);
        }
        for (int slot = 0; slot < nodes[0].num_edges; slot++) visits[slot] = edges[nodes[0].first_edge + slot].visits;
        return num_nodes;
    }
};

}  // namespace

// For each game: make a tree, search it (any number of times), delete it. ``visits`` has an entry for every action.
#define GAME(NAME, TYPE)                                                                                             \
    extern "C" void* NAME##_make() { return new Tree<TYPE>(); }                                                      \
    extern "C" void NAME##_delete(void* tree) { delete static_cast<Tree<TYPE>*>(tree); }                             \
    extern "C" int NAME##_search(void* tree, const TYPE::Number* root, int simulations, double c, uint64_t seed,     \
                                 int max_depth, int playout_steps, int32_t* visits) {                                \
        return static_cast<Tree<TYPE>*>(tree)->search(root, simulations, c, seed, max_depth, playout_steps, visits); \
    }
GAME(pig, Pig)
GAME(twenty48, Twenty48)
