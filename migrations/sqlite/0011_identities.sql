-- Who an identity provider of the operator knows an account as. One subject of an issuer is one account, and one account
-- one subject of that issuer: an address that the issuer gives to somebody else leads nobody into it.

CREATE TABLE identities (
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject),
  UNIQUE (account_id, issuer)
) STRICT, WITHOUT ROWID;
