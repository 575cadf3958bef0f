/** The forms in which an MCP server is brought to a gatehouse. */
export const serverForms = ['shared', 'each', 'single', 'single v1', 'each v1'] as const;

/** One of {@link serverForms}: one for all callers, one for each, ready-made; of SDK version 2 unless it says 1. */
export type ServerForm = (typeof serverForms)[number];

/** Where the gatehouses of one form listen, on 127.0.0.1. */
export interface Doors {
  /** Port of the gatehouse that keeps sessions. */
  stored: number;
  /** Port of the gatehouse whose older revisions have no sessions. */
  none: number;
}
