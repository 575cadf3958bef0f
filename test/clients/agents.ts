import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClientProgram } from './program.ts';
import { inTerminal, type Started, type Workplace } from './workplace.ts';

/** How long a login may take, and how long its success may take to be shown, in milliseconds. */
const [loginMs, settleMs] = [90_000, 10_000];
const lookEveryMs = 100;
/** How long a program that logs in at its start may take to ask, in milliseconds. */
const ownLoginMs = 30_000;
/** Between two keys, as people press them, in milliseconds. */
const keyMs = 500;
/** How long a program that has loaded, and a menu, draws nothing, in milliseconds. */
const [quietMs, menuMs] = [4000, 1000];
const prompt = 'Add the note with the tool add_note.';

async function writeJson(path: string, content: object): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, JSON.stringify(content));
}

/**
 * Runs a program that gives one prompt to its model. Some ask their model before their MCP servers have started: then a person
 * asks again.
 * @returns what the tool said to the model
 */
async function ask(
  at: Workplace,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  tries = 3,
): Promise<string> {
  const output = await at.run(command, args, { env });
  const results = at.model.results();
  if (results.length > 0) return results.join('\n');
  if (tries > 1) return ask(at, command, args, env, tries - 1);
  throw new Error(
    `its model was offered no tool add_note, or got no result of it\n${at.model.asked().slice(-3).join('\n')}\n${output.trim().slice(-800)}`,
  );
}

/**
 * Waits until a program has got a token, and asks for nothing more. What it says cannot be found among the lines that it draws
 * again and again; one that ends earlier has not stored the token.
 */
async function untilSettled(at: Workplace, from: number): Promise<void> {
  const { exchanges } = at.place;
  const hasToken = (): boolean =>
    exchanges.slice(from).some(({ path, status }) => /\/token(?:\?|$)/.test(path) && status === 200);
  const until = Date.now() + loginMs;
  for (let seen = -1; !hasToken() || seen !== exchanges.length; ) {
    if (Date.now() > until) throw new Error('the login brought no token');
    seen = exchanges.length;
    await pause(quietMs);
  }
}

/** Lets a person log in with a program that has a terminal, where keys are pressed. */
async function logInAtTerminal(
  at: Workplace,
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  press: (terminal: Started) => Promise<void>,
  { tries = 2, askedWithinMs = loginMs } = {},
): Promise<void> {
  const before = at.person.logins();
  const from = at.place.exchanges.length;
  const terminal = at.start(...inTerminal(at, command, args), env);
  try {
    await press(terminal);
    const until = Date.now() + askedWithinMs;
    while (at.person.logins() === before) {
      const [problem] = at.person.takeProblems();
      if (problem !== undefined) throw new Error(problem);
      if (Date.now() > until) throw new Error('nobody was asked to log in');
      await pause(lookEveryMs);
    }
    await untilSettled(at, from);
  } catch (error) {
    if (tries === 1) throw new Error(`${(error as Error).message}\n${terminal.output().trim().slice(-1200)}`);
    await terminal.stop();
    await logInAtTerminal(at, command, args, env, press, { tries: tries - 1, askedWithinMs });
  } finally {
    await terminal.stop();
  }
}

const isReady = /Type your message/;
const [enter, down] = ['\r', '\u001b[B'];

/**
 * Presses a key until the program shows what follows. A program takes keys that come at once for pasted text, and drops them
 * while it draws.
 */
async function pressUntil(terminal: Started, key: string, shows: RegExp, tries = 4): Promise<void> {
  await pause(keyMs);
  terminal.write(key);
  try {
    await terminal.waitFor(shows, settleMs);
  } catch (error) {
    if (tries === 1) throw error;
    await pressUntil(terminal, key, shows, tries - 1);
  }
}

/** Waits until a program has drawn nothing new for a while: one that still loads its commands takes them for a prompt. */
async function untilQuiet(terminal: Started, ms = quietMs): Promise<void> {
  const until = Date.now() + loginMs;
  for (let drawn = -1, length = 0; drawn !== length && Date.now() < until; ) {
    drawn = length;
    await pause(ms);
    length = terminal.output().length;
  }
}

/** Types a command, and sends it once the program shows it. */
async function typeCommand(terminal: Started, command: string, shows: RegExp): Promise<void> {
  await terminal.waitFor(isReady, loginMs);
  await untilQuiet(terminal);
  terminal.write(command);
  await terminal.waitFor(new RegExp(`${command}(?: |\\n|$)`), loginMs);
  await pressUntil(terminal, enter, shows);
}

/** Walks down a menu until the pointer stands before an entry, and takes it. */
async function choose(terminal: Started, entry: RegExp): Promise<void> {
  for (let steps = 0; steps < 8; steps++) {
    await untilQuiet(terminal, menuMs);
    const [, pointed = ''] = [...terminal.output().matchAll(/[›❯] ([^│\n]*)/g)].at(-1) ?? [];
    terminal.write(entry.test(pointed) ? enter : down);
    if (entry.test(pointed)) return;
  }
  throw new Error(`the menu has no ${entry}`);
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
startup_timeout_sec = 60
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
      const add = ['mcp', 'add', '--scope', 'user', '--transport', at.transport, 'notes', at.url];
      // The program that is started again has it already.
      await at.run('claude', add, { env }).catch((error: Error) => {
        if (!error.message.includes('already exists')) throw error;
      });
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
    transports: ['http', 'sse'],
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
          // It asks when it starts. Its command is for a login that has ended: two logins at once end each other.
          const logInWith = (args: readonly string[], options = {}): Promise<void> =>
            logInAtTerminal(at, 'copilot', args, env, async () => undefined, options);
          await logInWith([], { tries: 1, askedWithinMs: ownLoginMs }).catch(() =>
            logInWith(['-i', '/mcp auth notes']),
          );
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
        logIn: () =>
          logInAtTerminal(at, 'gemini', [], env, async (terminal) => {
            await typeCommand(terminal, '/mcp auth notes', /Do you want to continue/);
            await pause(keyMs);
            terminal.write(enter);
          }),
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
        // By default it hides tools of MCP servers behind a search.
        tools: { visible: ['mcp__notes__add_note'] },
        mcpServers: { notes: at.transport === 'sse' ? { url: at.url } : { httpUrl: at.url } },
      });
      return {
        logIn: () =>
          logInAtTerminal(at, 'qwen', [], env, async (terminal) => {
            await typeCommand(terminal, '/mcp', /Manage MCP servers/);
            await choose(terminal, /notes/);
            await choose(terminal, /authenticate/i);
          }),
        call: () => ask(at, 'qwen', ['--yolo', '-p', prompt], env),
      };
    },
  },
];
