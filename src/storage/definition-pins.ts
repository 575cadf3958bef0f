/** Kinds of definitions that are pinned. */
export type DefinitionKind = 'tool' | 'prompt' | 'template' | 'instructions';

/** A definition that an MCP server behind the gate sends: of a tool, a prompt, a resource template, or its instructions. */
export interface ServerDefinition {
  kind: DefinitionKind;
  /** Name of the tool or prompt, URI template, or name of the server whose instructions it is. */
  name: string;
  /** SHA-256 of the definition. */
  hash: string;
  /** The definition as JSON; absent if it is too long to store. */
  definition?: string;
}

/** A definition as it was first seen or last accepted. */
export interface DefinitionPin extends ServerDefinition {
  route: string;
  /** Epoch seconds. */
  pinnedAt: number;
  /** The latest definition that differs, and when it was first seen. */
  changed?: { hash: string; definition?: string; at: number };
}

/** Stores the definitions of MCP servers behind the gate, so that a change does not go unseen. */
export interface DefinitionPinStore {
  /** Lists the pins of a route, or of all routes, in the order of route, kind and name. */
  list(route?: string): Promise<DefinitionPin[]>;
  /** Pins new definitions; existing pins stay as they are. */
  add(route: string, definitions: readonly ServerDefinition[], nowSeconds: number): Promise<void>;
  /**
   * Replaces the hash of a pin that was made over fewer members. The time of the pin and a noted change stay.
   * @returns false if the pin does not have that hash
   */
  upgrade(route: string, definition: ServerDefinition, fromHash: string): Promise<boolean>;
  /**
   * Notes that a definition differs from its pin.
   * @returns false if this change is noted already, or there is no such pin, or no difference
   */
  noteChange(route: string, definition: ServerDefinition, nowSeconds: number): Promise<boolean>;
  /**
   * Makes the noted change of a definition its pin.
   * @param changed with the hash of the change
   * @returns false if no such change is noted
   */
  accept(
    route: string,
    changed: Pick<ServerDefinition, 'kind' | 'name' | 'hash'>,
    nowSeconds: number,
  ): Promise<boolean>;
  /** Removes the pins of a route: all, those of a name, or those of a kind. Returns how many. */
  forget(route: string, which?: { name?: string; kind?: DefinitionKind }): Promise<number>;
}
