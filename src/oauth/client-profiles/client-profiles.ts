import { claudeAi, claudeCode } from './claude.ts';
import type { ClientProfile } from './client-profile.ts';
import { cursor, vscode } from './editors.ts';
import { chatgpt, codex } from './openai.ts';
import { pythonSdk, sdkV1, sdkV2 } from './sdks.ts';
import { copilotCli, geminiCli, inspector, mcporter, mcpRemote } from './tools.ts';

/** Every client whose behaviour is written down here, in the order of the table. */
export const clientProfiles: readonly ClientProfile[] = [
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
  mcporter,
  sdkV1,
  sdkV2,
  pythonSdk,
];
