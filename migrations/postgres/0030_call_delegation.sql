-- Actors of a delegated token, generation of the upstream token, and milliseconds until the request was sent. Earlier
-- programs would find such calls changed.
ALTER TABLE calls
  ADD COLUMN actor text COLLATE "C",
  ADD COLUMN generation bigint,
  ADD COLUMN wait_ms bigint;
