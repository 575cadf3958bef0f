import type { Client, ClientCapabilities, ElicitResult, Tool } from '@modelcontextprotocol/client';
import type { ScenarioContext } from './everything-client-login.ts';

/** What a client does in one scenario. */
export interface ScenarioWork {
  capabilities: ClientCapabilities;
  prepare(client: Client): void;
  work(client: Client): Promise<void>;
}

/** Scenarios in which nothing but the list of tools is looked at. */
const listOnly = new Set(['initialize', 'request-metadata', 'json-schema-ref-no-deref']);

/** What a person would answer to each form; the rest of it takes its defaults. */
const answers: Record<string, ElicitResult> = {
  'sep-2322-client-request-state': { action: 'accept', content: { confirmed: true } },
};

/** Arguments for tools that cannot be called without. */
const knownArguments: Record<string, Record<string, unknown>> = { add_numbers: { a: 2, b: 3 } };

function call(client: Client, name: string, args: Record<string, unknown> = knownArguments[name] ?? {}) {
  return client.callTool({ name, arguments: args });
}

async function callAll(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  for (const { name } of tools) await call(client, name);
}

/** A state that one tool asks to be sent back must not reach another that is called meanwhile. */
async function keepStatesApart(client: Client): Promise<void> {
  await client.listTools();
  await Promise.all([call(client, 'test_mrtr_echo_state'), call(client, 'test_mrtr_unrelated')]);
  await call(client, 'test_mrtr_no_state');
  await call(client, 'test_mrtr_no_result_type');
}

async function useEverything(client: Client): Promise<void> {
  await callAll(client);
  const { resources } = await client.listResources();
  for (const { uri } of resources) await client.readResource({ uri });
  const { prompts } = await client.listPrompts();
  for (const { name } of prompts) await client.getPrompt({ name });
}

async function callAsTold(client: Client, given: ScenarioContext): Promise<void> {
  await client.listTools();
  const calls = given.toolCalls as { name: string; arguments: Record<string, unknown> }[];
  for (const { name, arguments: args } of calls) await call(client, name, args);
}

/** Sends a schema back as it came. */
async function echoSchema(client: Client): Promise<void> {
  const { tools } = await client.listTools();
  const schemaOf = ({ inputSchema }: Tool): Tool['inputSchema'] => inputSchema;
  const tool = tools.find(({ name }) => name === 'json_schema_2020_12_tool');
  if (tool) await call(client, 'json_schema_echo', { schema: schemaOf(tool) });
}

const special: Record<string, (client: Client, given: ScenarioContext) => Promise<void>> = {
  'sep-2322-client-request-state': keepStatesApart,
  'http-standard-headers': useEverything,
  'http-custom-headers': callAsTold,
  'json-schema-2020-12-preservation': echoSchema,
};

/**
 * @param scenario name of the scenario
 * @param given what the suite gives for it
 * @returns what a client that does everything does in it
 */
export function scenarioWork(scenario: string, given: ScenarioContext): ScenarioWork {
  return {
    capabilities: { elicitation: { form: { applyDefaults: true } }, sampling: {}, roots: {} },
    prepare: (client) => {
      client.setRequestHandler(
        'elicitation/create',
        () => answers[scenario] ?? { action: 'accept', content: {} },
      );
      client.setRequestHandler('sampling/createMessage', () => ({
        role: 'assistant',
        model: 'none',
        content: { type: 'text', text: 'Paris' },
      }));
      client.setRequestHandler('roots/list', () => ({ roots: [] }));
    },
    work: async (client) => {
      if (listOnly.has(scenario)) await client.listTools();
      else await (special[scenario] ?? callAll)(client, given);
    },
  };
}
