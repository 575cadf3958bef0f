import type { FirstAccount } from './first-account.ts';
import { printableLine } from './output.ts';
import { programName } from './program-name.ts';

/** What the first lines of a running server tell. */
export interface WelcomeOptions {
  version: string;
  mcpUrl: string;
  /** All MCP servers, that of mcpUrl among them. */
  servers: readonly { name: string; mcpUrl: string }[];
  publicUrl: string;
  dataFolder: string;
  firstAccount: FirstAccount | undefined;
  /** Whether the server of notes is served, whose tools are known. */
  hasNotes: boolean;
}

/** The text a person reads when the server is up: where it is, who can log in, how to connect. */
export function formatWelcome({
  version,
  mcpUrl,
  servers,
  publicUrl,
  dataFolder,
  firstAccount,
  hasNotes,
}: WelcomeOptions): string {
  const account = firstAccount
    ? [
        `  Account    ${firstAccount.email}`,
        firstAccount.generatedPassword
          ? `  Password   ${firstAccount.generatedPassword}   (shown only now; change it with: ${programName} account password ${firstAccount.email} --data ${dataFolder})`
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
