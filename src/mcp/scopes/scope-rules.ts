/** The scopes that tools, prompts and resources need. */
export interface OperationScopes {
  /** Tool name -> all scopes a call of it needs. */
  tools?: Readonly<Record<string, readonly string[]>>;
  /** Prompt name -> all scopes it needs. */
  prompts?: Readonly<Record<string, readonly string[]>>;
  /** Beginning of a resource's URI -> all scopes needed to read it; the longest beginning decides. */
  resources?: Readonly<Record<string, readonly string[]>>;
}

/** Rules for the scopes of calls and the visibility of list items. */
export interface ScopeRules extends OperationScopes {
  /** Scopes of every tool, prompt and resource that is not named, here or at its declaration; none by default. */
  otherwise?: readonly string[];
  /** Scope -> scopes that who holds it holds, too: `{ 'notes:write': ['notes:read'] }` (A8-05). */
  implies?: Readonly<Record<string, readonly string[]>>;
  /** Content of lists of tools, prompts and resources: `all` items (default), or those whose scopes are `granted`. */
  lists?: 'all' | 'granted';
}
