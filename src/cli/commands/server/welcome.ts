import type { createAdministration } from '../../../authorization-server/administration/administration.ts';
import { printableLine, programName } from '../../output.ts';

/** Options of {@link formatWelcome}. */
export interface WelcomeOptions {
  version: string;
  mcpUrl: string;
  /** All MCP servers, that of mcpUrl among them. */
  servers: readonly { name: string; mcpUrl: string }[];
  publicUrl: string;
  dataFolder: string;
  /** Option with which commands find the installation. */
  placeOption: string;
  firstAccount: FirstAccount | undefined;
  /** True if the built-in notes server runs, whose tools are known. */
  hasNotes: boolean;
}

/** Formats the text that `serve` prints at its start: its URL, the first account, and how to connect. */
export function formatWelcome({
  version,
  mcpUrl,
  servers,
  publicUrl,
  dataFolder,
  placeOption,
  firstAccount,
  hasNotes,
}: WelcomeOptions): string {
  const account = firstAccount
    ? [
        `  Account    ${firstAccount.email}`,
        firstAccount.generatedPassword
          ? `  Password   ${firstAccount.generatedPassword}   (shown only now; change it with: ${programName} account password ${firstAccount.email} ${placeOption})`
          : '  Password   as set in GATEHOUSE_ACCOUNT_PASSWORD',
      ]
    : [];
  return `${[
    `Gatehouse ${version} serves ${publicUrl}`,
    '',
    ...servers.map((server) =>
      servers.length === 1
        ? `  MCP URL    ${server.mcpUrl}`
        : `  MCP URL    ${server.mcpUrl}   (${printableLine(server.name)})`,
    ),
    ...account,
    `  Data       ${dataFolder}`,
    '',
    'Connect with',
    `  Claude Code     claude mcp add --transport http gatehouse ${mcpUrl}`,
    `  Cursor          ~/.cursor/mcp.json  {"mcpServers":{"gatehouse":{"url":"${mcpUrl}"}}}`,
    `  VS Code         code --add-mcp '{"name":"gatehouse","type":"http","url":"${mcpUrl}"}'`,
    `  MCP Inspector   npx @modelcontextprotocol/inspector   (transport "Streamable HTTP", URL ${mcpUrl})`,
    `  this terminal   ${programName} login ${mcpUrl}`,
    `                  ${programName} ${hasNotes ? `call ${mcpUrl} whoami` : `tools ${mcpUrl}`}`,
    '',
    'Stop with Ctrl+C.',
  ].join('\n')}\n`;
}

/** The account that the first start creates. */
export interface FirstAccount {
  email: string;
  /** Set only if the password was generated: it is shown once and stored nowhere. */
  generatedPassword?: string;
}

/**
 * Creates an account if there is none, so that somebody can log in: from `GATEHOUSE_ACCOUNT_EMAIL` and
 * `GATEHOUSE_ACCOUNT_PASSWORD`, or with a random password.
 * @returns the new account; undefined if there were accounts already
 * @throws AdministrationRefused if the address or the password of the environment is not acceptable
 */
export async function createFirstAccount(
  { accounts }: ReturnType<typeof createAdministration>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<FirstAccount | undefined> {
  if ((await accounts.list()).length > 0) return undefined;
  const email = env.GATEHOUSE_ACCOUNT_EMAIL || 'owner@localhost';
  const given = env.GATEHOUSE_ACCOUNT_PASSWORD;
  const generatedPassword = given === undefined ? accounts.suggestPassword() : undefined;
  const account = await accounts.add(email, given ?? generatedPassword ?? '');
  return { email: account.email, ...(generatedPassword === undefined ? undefined : { generatedPassword }) };
}
