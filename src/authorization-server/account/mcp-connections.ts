/** An open MCP session of an account. */
export interface McpConnection {
  /** Names it to end it. */
  key: string;
  clientId: string;
  /** What people call the server it is at, where there are several. */
  server?: string;
  /** Epoch seconds. */
  createdAt: number;
  /** Epoch seconds. */
  usedAt: number;
}

/** What the account pages ask of the MCP endpoint in the same process. */
export interface McpConnections {
  /** Gives an account's open sessions, last used first. */
  list(accountId: string): Promise<McpConnection[]>;
  /** Ends a session with its streams and running calls; false where the account has none with this key. */
  end(accountId: string, key: string): Promise<boolean>;
  /** Ends an account's sessions with one client that were used by one grant last. @param app its client, and the grant as tokens name it */
  endOfGrant(accountId: string, app: { clientId: string; grantId: string }): Promise<void>;
}
