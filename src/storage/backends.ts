/** The owner of an object that a backend keeps, such as a task. */
export interface BackendObject {
  /** Digest of route, kind and the id that the backend gave the object. */
  key: string;
  route: string;
  /** Account and client, see `principalKey`. */
  principal: string;
  clientId: string;
  /** Stored name of the grant by which the object was made; absent for a client that acts for itself. */
  grantId?: string | undefined;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  expiresAt: number;
}

/**
 * Outcome of {@link BackendObjectStore.add}.
 * - `taken`: another principal owns the object, and it has not expired.
 * - `full`: the principal owns as many objects of the route as it may.
 * - `ended`: the grant has ended.
 */
export type AddedObject = 'added' | 'taken' | 'full' | 'ended';

/** Owners of the objects that backends keep. A row is removed with its grant, and with a client that acts for itself. */
export interface BackendObjectStore {
  /** Stores an owner. The same owner may be stored again, with another expiry. */
  add(object: BackendObject, maxPerPrincipal: number): Promise<AddedObject>;
  /** Returns those of the keys that the principal owns, without expired ones. */
  filterOwned(keys: readonly string[], principal: string, nowSeconds: number): Promise<string[]>;
  /** Returns those of the keys that are stored, whoever owns them. */
  filterPresent(keys: readonly string[]): Promise<string[]>;
  /** Returns a mark: as long as it stays the same, no row was removed, by whichever process. */
  removalMark(): Promise<number>;
  remove(key: string): Promise<void>;
}

/** Identifies a credential by account, route and name. */
export interface BackendCredentialKey {
  accountId: string;
  route: string;
  name: string;
}

/** A credential that a user entered for a backend, without its value. */
export interface EnteredCredential extends BackendCredentialKey {
  /** Epoch seconds. */
  enteredAt: number;
}

/** A credential that was changed or removed. */
export interface BackendCredentialChange {
  /** Increases with each change. */
  position: number;
  accountId: string;
  route: string;
}

/** Retention of credential changes, in seconds; every process polls far more often. */
export const credentialChangeRetentionSeconds = 3_600;

/**
 * Returns the sealing context of a credential: a value sealed for one account, route and name cannot be opened for
 * another.
 */
export function credentialContext(accountId: string, route: string, name: string): string {
  return JSON.stringify(['BackendCredential', accountId, route, name]);
}

/** Credentials that users entered for MCP servers behind the gateway. They are removed with their account. */
export interface BackendCredentialStore {
  /**
   * Stores or replaces a value.
   * @param value sealed for {@link credentialContext}
   * @returns false if there is no such account
   */
  put(key: BackendCredentialKey, value: Uint8Array, nowSeconds: number): Promise<boolean>;
  /** Returns the sealed value; undefined if none was entered. */
  find(key: BackendCredentialKey): Promise<Uint8Array | undefined>;
  /** Returns the credentials of an account, by route and name. */
  listOf(accountId: string): Promise<EnteredCredential[]>;
  /**
   * Removes a credential.
   * @returns false if none was entered
   */
  remove(key: BackendCredentialKey): Promise<boolean>;
  /** Returns the position of the latest change. */
  lastChange(): Promise<number>;
  /**
   * Returns the changes of all processes after a position, in order.
   * @param limit maximum number of changes
   */
  changesAfter(position: number, limit: number): Promise<BackendCredentialChange[]>;
}

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
