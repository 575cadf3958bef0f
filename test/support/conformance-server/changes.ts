import { setTimeout as pause } from 'node:timers/promises';
import type { McpServer } from '@modelcontextprotocol/server';
import { textResult } from './content.ts';

/** Registers the tools that change the lists of tools and prompts, which the server then announces. */
export function registerChanges(server: McpServer): void {
  let times = 0;
  const tool = server.registerTool('test_changing_tool', { description: 'as at the start' }, () =>
    textResult('here'),
  );
  const prompt = server.registerPrompt('test_changing_prompt', { description: 'as at the start' }, () => ({
    messages: [],
  }));
  server.registerTool('test_trigger_tool_change', { description: 'changes the list of tools' }, () => {
    tool.update({ description: `changed ${++times} times` });
    return textResult('the tools changed');
  });
  server.registerTool('test_trigger_prompt_change', { description: 'changes the list of prompts' }, () => {
    prompt.update({ description: `changed ${++times} times` });
    return textResult('the prompts changed');
  });
}

/** Registers the tool that leaves its client to come back for the answer (SEP-1699). */
export function registerReconnection(server: McpServer): void {
  server.registerTool('test_reconnection', { description: 'ends its stream' }, async ({ http }) => {
    http?.closeSSE?.();
    await pause(100);
    return textResult('The client came back.');
  });
}
