import type { SealedBox } from './crypto/sealed-box.ts';
import type { StateSeal } from './mcp/index.ts';

/**
 * Seals `requestState` with the installation's key, for the MCP endpoint.
 */
export function createStateSeal(box: SealedBox): StateSeal {
  return {
    seal: (text, context) => box.seal(text, context).toString('base64url'),
    open(sealed, context) {
      try {
        return box.open(Buffer.from(sealed, 'base64url'), context);
      } catch {
        return undefined;
      }
    },
  };
}
