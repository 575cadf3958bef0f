import { setTimeout as pause } from 'node:timers/promises';
import type { CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { textResult } from './content.ts';
import { defaultsForm, enumerationsForm, userForm } from './samples.ts';

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
      const { action, content } = await context.mcpReq.elicitInput({ message, requestedSchema: userForm });
      return textResult(`User response: action=${action}, content=${JSON.stringify(content ?? {})}`);
    },
  );
  const forms = {
    test_elicitation_sep1034_defaults: defaultsForm,
    test_elicitation_sep1330_enums: enumerationsForm,
  };
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
