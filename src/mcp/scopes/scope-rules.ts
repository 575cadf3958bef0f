/** The scopes that tools, prompts and resources need. */
export interface OperationScopes {
  /** Tool name -> all scopes a call of it needs. */
  tools?: Readonly<Record<string, readonly string[]>>;
  /** Prompt name -> all scopes it needs. */
  prompts?: Readonly<Record<string, readonly string[]>>;
  /** Beginning of a resource's URI -> all scopes needed to read it; the longest beginning decides. */
  resources?: Readonly<Record<string, readonly string[]>>;
}

/** Which scopes calls need, and who sees what in lists. */
export interface ScopeRules extends OperationScopes {
  /** What every tool, prompt and resource needs that is not named, here or beside it; nothing by default. */
  otherwise?: readonly string[];
  /** Scope -> scopes that who holds it holds, too: `{ 'notes:write': ['notes:read'] }` (A8-05). */
  implies?: Readonly<Record<string, readonly string[]>>;
  /** What lists of tools, prompts and resources show: `all` of them (default), or those whose scopes are `granted`. */
  lists?: 'all' | 'granted';
}
