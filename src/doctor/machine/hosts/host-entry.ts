/** A server as the configuration of a host names it. Values may be secrets: none is ever shown. */
export interface HostEntry {
  /** `Claude Desktop`. */
  host: string;
  file: string;
  /** The name the user gave it. */
  name: string;
  /** Of the server, or the one a bridge such as mcp-remote is given. */
  url?: string;
  headers: Readonly<Record<string, string>>;
  args: readonly string[];
}

/** A configuration file, and what it came to. */
export interface HostFile {
  host: string;
  file: string;
  entries: readonly HostEntry[];
  /** Reason why it could not be read; a host then has no servers at all. */
  fault?: string;
  /** Permission bits of the file. */
  mode: number;
}
