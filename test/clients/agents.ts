import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ClientProgram } from './program.ts';
import { inTerminal, type Workplace } from './workplace.ts';

const prompt = 'Add the note with the tool add_note.';

async function writeJson(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(content));
}

/** Runs a program that gives one prompt to its model. @returns what the tool said to the model */
async function ask(
  at: Workplace,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const output = await at.run(command, args, { env });
  const results = at.model.results();
  if (results.length === 0)
    throw new Error(
      `the model got no result of the tool; it was asked: ${at.model.asked().slice(-3).join(' ; ').slice(0, 600)}; the program wrote: ${output.trim().slice(-800)}`,
    );
  return results.join('\n');
}

/** Waits until one more login reached the program. */
async function untilLoggedIn(at: Workplace, act: () => Promise<void>, timeoutMs = 90_000): Promise<void> {
  const before = at.person.logins();
  const until = Date.now() + timeoutMs;
  await act();
  while (at.person.logins() === before) {
    if (Date.now() > until)
      throw new Error(`nobody was asked to log in: ${at.person.takeProblems().join('; ')}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Programs with a model, which the model of model-server.ts plays. */
export const agents: readonly ClientProgram[] = [
  {
    name: 'codex',
    title: 'Codex',
    packages: ['@openai/codex@latest'],
    transports: ['http'],
    async open(at) {
      const config = `
model = "local"
model_provider = "local"
mcp_oauth_credentials_store = "file"
[model_providers.local]
name = "local"
base_url = "${at.model.url}/v1"
wire_api = "responses"
[mcp_servers.notes]
url = "${at.url}"
`;
      const env = { CODEX_HOME: join(at.home, '.codex') };
      await mkdir(env.CODEX_HOME, { recursive: true });
      await writeFile(join(env.CODEX_HOME, 'config.toml'), config);
      return {
        async logIn() {
          await at.run('codex', ['mcp', 'login', 'notes'], { env });
        },
        call: () =>
          ask(
            at,
            'codex',
            ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
            env,
          ),
      };
    },
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    packages: ['@anthropic-ai/claude-code@latest'],
    transports: ['http', 'sse'],
    async open(at) {
      const env = {
        ANTHROPIC_BASE_URL: at.model.url,
        ANTHROPIC_API_KEY: 'sk-ant-of-the-model-server',
        ENABLE_TOOL_SEARCH: 'false',
        CLAUDE_CONFIG_DIR: join(at.home, '.claude'),
      };
      await at.run(
        'claude',
        ['mcp', 'add', '--scope', 'user', '--transport', at.transport, 'notes', at.url],
        {
          env,
        },
      );
      return {
        async logIn() {
          await at.run(...inTerminal(at, 'claude', ['mcp', 'login', 'notes']), { env });
        },
        call: () =>
          ask(
            at,
            'claude',
            [
              '--print',
              '--model',
              'claude-sonnet-4-5',
              '--allowedTools',
              'mcp__notes__add_note',
              '--',
              prompt,
            ],
            env,
          ),
      };
    },
  },
  {
    name: 'opencode',
    title: 'opencode',
    packages: ['opencode-ai@latest'],
    transports: ['http'],
    async open(at) {
      await writeJson(join(at.home, '.config/opencode/opencode.json'), {
        model: 'local/local',
        small_model: 'local/local',
        permission: 'allow',
        provider: {
          local: {
            npm: '@ai-sdk/openai-compatible',
            options: { baseURL: `${at.model.url}/v1`, apiKey: 'none' },
            models: { local: { name: 'local', tool_call: true, limit: { context: 100_000, output: 1000 } } },
          },
        },
        mcp: { notes: { type: 'remote', url: at.url, enabled: true } },
      });
      return {
        async logIn() {
          await at.run('opencode', ['mcp', 'auth', 'notes']);
        },
        call: () => ask(at, 'opencode', ['run', '--model', 'local/local', prompt], {}),
      };
    },
  },
  {
    name: 'copilot-cli',
    title: 'GitHub Copilot CLI',
    packages: ['@github/copilot@latest'],
    transports: ['http', 'sse'],
    async open(at) {
      const env = {
        COPILOT_PROVIDER_BASE_URL: `${at.model.url}/v1`,
        COPILOT_MODEL: 'local',
        COPILOT_OFFLINE: 'true',
        COPILOT_ALLOW_ALL: 'true',
        COPILOT_HOME: join(at.home, '.copilot'),
      };
      await writeJson(join(env.COPILOT_HOME, 'mcp-config.json'), {
        mcpServers: { notes: { type: at.transport, url: at.url, tools: ['*'] } },
      });
      return {
        async logIn() {
          const terminal = at.start(...inTerminal(at, 'copilot', ['-i', '/mcp auth notes']), env);
          try {
            await untilLoggedIn(at, async () => undefined);
            await terminal.waitFor(/authenticated|success|connected/i, 20_000).catch(() => undefined);
          } catch (error) {
            throw new Error(`${(error as Error).message}: ${terminal.output().trim().slice(-1200)}`);
          } finally {
            await terminal.stop();
          }
        },
        call: () => ask(at, 'copilot', ['--allow-all-tools', '--no-color', '-p', prompt], env),
      };
    },
  },
  {
    name: 'gemini-cli',
    title: 'Gemini CLI',
    packages: ['@google/gemini-cli@latest'],
    transports: ['http', 'sse'],
    async open(at) {
      const env = {
        GEMINI_API_KEY: 'none',
        GOOGLE_GEMINI_BASE_URL: at.model.url,
        GEMINI_CLI_TRUST_WORKSPACE: 'true',
        GEMINI_FORCE_FILE_STORAGE: 'true',
        GEMINI_FORCE_ENCRYPTED_FILE_STORAGE: 'false',
      };
      await writeJson(join(at.home, '.gemini/settings.json'), {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        mcpServers: { notes: at.transport === 'sse' ? { url: at.url, type: 'sse' } : { httpUrl: at.url } },
      });
      return {
        async logIn() {
          const terminal = at.start(...inTerminal(at, 'gemini', ['-i', '/mcp auth notes']), env);
          try {
            await untilLoggedIn(at, async () => undefined);
            await terminal.waitFor(/successfully|authenticated/i, 20_000).catch(() => undefined);
          } catch (error) {
            throw new Error(`${(error as Error).message}: ${terminal.output().trim().slice(-1200)}`);
          } finally {
            await terminal.stop();
          }
        },
        call: () => ask(at, 'gemini', ['--yolo', '-m', 'gemini-2.5-flash', '-p', prompt], env),
      };
    },
  },
  {
    name: 'qwen-code',
    title: 'Qwen Code',
    packages: ['@qwen-code/qwen-code@latest'],
    transports: ['http', 'sse'],
    async open(at) {
      const env = {
        OPENAI_API_KEY: 'none',
        OPENAI_BASE_URL: `${at.model.url}/v1`,
        OPENAI_MODEL: 'local',
        QWEN_TELEMETRY_ENABLED: 'false',
      };
      await writeJson(join(at.home, '.qwen/settings.json'), {
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        privacy: { usageStatisticsEnabled: false },
        general: { disableAutoUpdate: true, enableAutoUpdate: false },
        mcpServers: { notes: at.transport === 'sse' ? { url: at.url } : { httpUrl: at.url } },
      });
      return {
        async logIn() {
          const terminal = at.start(...inTerminal(at, 'qwen', ['-i', '/mcp auth notes']), env);
          try {
            await untilLoggedIn(at, async () => undefined);
            await terminal.waitFor(/successfully|authenticated/i, 20_000).catch(() => undefined);
          } catch (error) {
            throw new Error(`${(error as Error).message}: ${terminal.output().trim().slice(-1200)}`);
          } finally {
            await terminal.stop();
          }
        },
        call: () => ask(at, 'qwen', ['--yolo', '-p', prompt], env),
      };
    },
  },
];
