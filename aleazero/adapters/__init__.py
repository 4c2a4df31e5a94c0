"""AleaZero's environments in the words of other libraries (the extra ``gym``). Nothing else imports from here."""
