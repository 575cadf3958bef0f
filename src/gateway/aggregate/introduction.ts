import { joinCapabilities, unknownCapabilities } from './capabilities.ts';
import { type Missing, sayMissing } from './gathering.ts';
import type { Member } from './member.ts';

/**
 * The result of `initialize` for several backends: what they can do together, and what each says of itself.
 * @param name what people call them together
 * @param missing those that could not be begun with
 * @see MCP 2025-11-25 lifecycle "Initialization" (C8-07)
 */
export function introduction(
  name: string,
  protocolVersion: string,
  members: readonly Member[],
  missing: readonly Missing[],
): Record<string, unknown> {
  const away = new Set(missing.map(({ member }) => member));
  const can = members.map(
    ({ result, backend }) => result?.capabilities ?? backend.known ?? unknownCapabilities,
  );
  const instructions = members
    .flatMap((member) => (away.has(member) ? `# ${member.key}\n\nNot available at present.` : saying(member)))
    .join('\n\n');
  return {
    protocolVersion,
    capabilities: joinCapabilities(can),
    serverInfo: { name, version: '1' },
    ...(instructions && { instructions }),
    ...sayMissing(missing),
  };
}

function saying({ key, result }: Member): string | [] {
  const instructions = result?.instructions;
  if (typeof instructions !== 'string' || instructions === '') return [];
  return `# ${key}\n\nTools and prompts: ${key}_…; resources: ${key}+….\n\n${instructions}`;
}
