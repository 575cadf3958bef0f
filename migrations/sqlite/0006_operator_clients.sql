-- Who made a client: itself, by registering; the operator, by a command; the operator's settings. Those of the operator
-- are not swept.

ALTER TABLE clients ADD COLUMN origin TEXT NOT NULL DEFAULT 'registered'
  CHECK (origin IN ('registered', 'operator', 'settings'));
CREATE INDEX clients_of_operator ON clients (origin) WHERE origin <> 'registered';

-- Notes belong to whoever the access token is about: an account, or a client that acts for itself.
CREATE TABLE notes_of_subjects (
  id TEXT PRIMARY KEY,
  subject TEXT NOT NULL,
  text TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO notes_of_subjects (id, subject, text, created_at) SELECT id, account_id, text, created_at FROM notes;
DROP TABLE notes;
ALTER TABLE notes_of_subjects RENAME TO notes;
CREATE INDEX notes_subject ON notes (subject, created_at);

-- A subject takes its notes along, and nobody leaves one behind who is gone.
CREATE TRIGGER account_takes_its_notes AFTER DELETE ON accounts BEGIN
  DELETE FROM notes WHERE subject = old.id;
END;
CREATE TRIGGER client_takes_its_notes AFTER DELETE ON clients BEGIN
  DELETE FROM notes WHERE subject = old.id;
END;
CREATE TRIGGER note_needs_its_subject BEFORE INSERT ON notes
WHEN NOT EXISTS (SELECT 1 FROM accounts WHERE id = new.subject)
  AND NOT EXISTS (SELECT 1 FROM clients WHERE id = new.subject)
BEGIN
  SELECT RAISE(ABORT, 'the subject of the note is gone');
END;
