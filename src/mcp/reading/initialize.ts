import type { InitializeParams } from '../protocol.ts';
import type { RequestMessage } from './frames.ts';
import { isRecord } from './record.ts';

/** Largest body of an `initialize`, in bytes: what it says is kept as long as its session (T-144). */
export const maxInitializeBytes = 65_536;

/**
 * Reads the params of an `initialize` request.
 * @returns undefined if something is missing
 * @see MCP 2025-11-25 lifecycle "Initialization" (C2-01)
 */
export function readInitialize({ params }: RequestMessage): InitializeParams | undefined {
  const { protocolVersion, capabilities, clientInfo } = params ?? {};
  const isComplete =
    typeof protocolVersion === 'string' &&
    isRecord(capabilities) &&
    isRecord(clientInfo) &&
    typeof clientInfo.name === 'string' &&
    typeof clientInfo.version === 'string';
  return isComplete ? (params as InitializeParams) : undefined;
}
