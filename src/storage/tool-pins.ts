/** How a tool is defined. */
export interface ToolDefinition {
  tool: string;
  /** Of the definition; two that differ have different ones. */
  hash: string;
  /** The definition as JSON; absent where it is too long to keep. */
  definition?: string;
}

/** A tool of a route, as it was when it was first seen or last accepted. */
export interface ToolPin extends ToolDefinition {
  route: string;
  /** Epoch seconds. */
  pinnedAt: number;
  /** The latest definition that differs, and when it was first seen. */
  changed?: { hash: string; definition?: string; at: number };
}

/** The definitions of tools that are remembered, so that a change of one does not go unseen. */
export interface ToolPinStore {
  /** Gives what is remembered of a route, or of all, in the order of names. */
  list(route?: string): Promise<ToolPin[]>;
  /** Remembers tools that are new; one that is remembered stays as it is. */
  add(route: string, tools: readonly ToolDefinition[], nowSeconds: number): Promise<void>;
  /**
   * Notes that a tool is defined otherwise now.
   * @returns false where that is known, or it is not so
   */
  noteChange(route: string, tool: ToolDefinition, nowSeconds: number): Promise<boolean>;
  /**
   * Takes the noted change of a tool for its definition.
   * @param hash of the change
   * @returns false where no such change is noted
   */
  accept(route: string, tool: string, hash: string, nowSeconds: number): Promise<boolean>;
  /** Forgets a tool, or all of a route: what is seen next counts as new. Gives how many. */
  forget(route: string, tool?: string): Promise<number>;
}
