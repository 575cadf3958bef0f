-- The place that an installation was moved to: servers refuse it here from then on.
ALTER TABLE installation ADD COLUMN moved_to text;
