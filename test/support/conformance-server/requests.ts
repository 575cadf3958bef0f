import { setTimeout as pause } from 'node:timers/promises';
import type { CallToolResult, ElicitRequestFormParams, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { textResult } from './content.ts';

type Schema = ElicitRequestFormParams['requestedSchema'];

const userSchema: Schema = {
  type: 'object',
  properties: {
    username: { type: 'string', description: "User's response" },
    email: { type: 'string', description: "User's email address" },
  },
  required: ['username', 'email'],
};

/** A default of every primitive type (SEP-1034). */
const defaults: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const titled = ['First', 'Second', 'Third'].map((word, at) => ({
  const: `value${at + 1}`,
  title: `${word} Option`,
}));

/** Every form of an enumeration (SEP-1330). */
const enumerations: Schema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: {
      type: 'string',
      enum: ['opt1', 'opt2', 'opt3'],
      enumNames: ['Option One', 'Option Two', 'Option Three'],
    },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  },
};

/** Registers the tools with which a server of the legacy era turns to its client while a call runs. */
export function registerRequests(server: McpServer): void {
  server.registerTool(
    'test_tool_with_logging',
    { description: 'logs' },
    async (context): Promise<CallToolResult> => {
      await context.mcpReq.log('info', 'Tool execution started');
      await pause(50);
      await context.mcpReq.log('info', 'Tool processing data');
      await pause(50);
      await context.mcpReq.log('info', 'Tool execution completed');
      return textResult('logged');
    },
  );
  server.registerTool('test_tool_with_progress', { description: 'reports progress' }, async (context) => {
    const { progressToken } = context.mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        });
      await pause(50);
    }
    return textResult('done');
  });
  server.registerTool(
    'test_sampling',
    { description: 'asks the model', inputSchema: z.object({ prompt: z.string() }) },
    async ({ prompt }, context) => {
      const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: prompt } }];
      const { content } = await context.mcpReq.requestSampling({ messages, maxTokens: 100 });
      return textResult(`LLM response: ${JSON.stringify(content)}`);
    },
  );
  server.registerTool(
    'test_elicitation',
    { description: 'asks the person', inputSchema: z.object({ message: z.string() }) },
    async ({ message }, context) => {
      const { action, content } = await context.mcpReq.elicitInput({ message, requestedSchema: userSchema });
      return textResult(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  );
  const forms = { test_elicitation_sep1034_defaults: defaults, test_elicitation_sep1330_enums: enumerations };
  for (const [name, requestedSchema] of Object.entries(forms)) {
    server.registerTool(name, { description: 'asks the person with a form' }, async (context) => {
      const { action, content } = await context.mcpReq.elicitInput({
        message: 'Please fill in',
        requestedSchema,
      });
      return textResult(`Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`);
    });
  }
}
