import { claudeAi, claudeCode } from './claude.ts';
import type { ClientProfile } from './client-profile.ts';
import { cursor, vscode } from './editors.ts';
import { chatgpt, codex } from './openai.ts';
import { copilotCli, geminiCli, inspector, mcpRemote, pythonSdk, sdkV1, sdkV2 } from './tools.ts';

/** All clients with a known behaviour, in the order of the table. */
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
  sdkV1,
  sdkV2,
  pythonSdk,
];
