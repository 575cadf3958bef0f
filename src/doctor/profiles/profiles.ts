import { claudeAi, claudeCode } from './clients/claude.ts';
import { cursor, vscode } from './clients/editors.ts';
import { chatgpt, codex } from './clients/openai.ts';
import { pythonSdk, sdkV1, sdkV2 } from './clients/sdks.ts';
import { copilotCli, geminiCli, inspector, mcpRemote } from './clients/tools.ts';
import type { ClientProfile } from './profile.ts';

/** Every client whose behaviour is written down here, in the order of the table. */
export const profiles: readonly ClientProfile[] = [
  claudeCode,
  claudeAi,
  chatgpt,
  codex,
  cursor,
  vscode,
  copilotCli,
  geminiCli,
  inspector,
  mcpRemote,
  sdkV1,
  sdkV2,
  pythonSdk,
];

/**
 * The profiles that `--as` names.
 * @param names names, or `all`
 * @throws RangeError that lists the names there are
 */
export function chooseProfiles(names: readonly string[]): readonly ClientProfile[] {
  if (names.includes('all')) return profiles;
  const unknown = names.filter((name) => !profiles.some((profile) => profile.name === name));
  if (unknown.length > 0)
    throw new RangeError(
      `There is no client ${unknown.join(', ')}. There are: all, ${profiles.map(({ name }) => name).join(', ')}.`,
    );
  return profiles.filter(({ name }) => names.includes(name));
}
