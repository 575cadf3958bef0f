-- Keyed digests of where a refresh token was used from, so that its second use can be compared with the first. No address
-- and no user agent is in them in the clear.

ALTER TABLE artifacts ADD COLUMN used_from TEXT;
