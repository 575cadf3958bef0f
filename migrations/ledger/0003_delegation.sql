-- Actors of a delegated token, generation of the upstream token, and milliseconds until the request was sent.
ALTER TABLE calls ADD COLUMN actor INTEGER;
ALTER TABLE calls ADD COLUMN generation INTEGER;
ALTER TABLE calls ADD COLUMN wait_ms INTEGER;
