"""What pages are built from: the frame, boards, trees, forms, plots and tables."""
