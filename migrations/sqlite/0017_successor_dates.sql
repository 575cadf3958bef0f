-- By which the tokens that followed a used refresh token are dated, in epoch milliseconds: so they are found again.

ALTER TABLE artifacts ADD COLUMN successors_at_ms INTEGER;
