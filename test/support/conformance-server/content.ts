import {
  type CallToolResult,
  completable,
  fromJsonSchema,
  type McpServer,
  ResourceTemplate,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { audio, embedded, image, mixed, schema2020 } from './samples.ts';

/** A text as a tool's result. */
export function textResult(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

function registerTools(server: McpServer): void {
  const contents: Record<string, CallToolResult['content']> = {
    test_simple_text: [{ type: 'text', text: 'This is a simple text response for testing.' }],
    test_image_content: [image],
    test_audio_content: [audio],
    test_embedded_resource: [embedded],
    test_multiple_content_types: [{ type: 'text', text: 'Multiple content types test:' }, image, mixed],
  };
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, { description: 'gives content of a kind' }, () => ({ content }));
  }
  server.registerTool('test_error_handling', { description: 'fails' }, () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool(
    'json_schema_2020_12_tool',
    { description: 'Tool with JSON Schema 2020-12 features', inputSchema: fromJsonSchema(schema2020) },
    () => textResult('ok'),
  );
  const region = { type: 'string', 'x-mcp-header': 'Region' };
  server.registerTool(
    'test_custom_headers',
    {
      description: 'mirrors an argument in a header',
      inputSchema: fromJsonSchema({ type: 'object', properties: { region }, required: ['region'] }),
    },
    () => textResult('ok'),
  );
}

function registerResources(server: McpServer): void {
  const texts: Record<string, string> = {
    'test://static-text': 'This is the content of the static text resource.',
    'test://watched-resource': 'Watched resource content',
  };
  for (const [uri, text] of Object.entries(texts)) {
    const about = { description: 'a text', mimeType: 'text/plain' };
    server.registerResource(uri, uri, about, () => ({ contents: [{ uri, mimeType: 'text/plain', text }] }));
  }
  const binary = 'test://static-binary';
  server.registerResource(binary, binary, { description: 'an image', mimeType: 'image/png' }, () => ({
    contents: [{ uri: binary, mimeType: 'image/png', blob: image.data }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'data by id', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}

function registerPrompts(server: McpServer): void {
  const user = <C>(content: C) => ({ role: 'user' as const, content });
  const say = (text: string) => user({ type: 'text' as const, text });
  server.registerPrompt('test_simple_prompt', { description: 'a text' }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }));
  const argument = completable(z.string(), (value) =>
    ['paris', 'park', 'party'].filter((one) => one.startsWith(value)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'two arguments', argsSchema: z.object({ arg1: argument, arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'embeds a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        user({
          type: 'resource' as const,
          resource: {
            uri: resourceUri,
            mimeType: 'text/plain',
            text: 'Embedded resource content for testing.',
          },
        }),
        say('Please process the embedded resource above.'),
      ],
    }),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'embeds an image' }, () => ({
    messages: [user(image), say('Please analyze the image above.')],
  }));
}

/** Registers the tools, resources and prompts of the suite that only give something back. */
export function registerContent(server: McpServer): void {
  registerTools(server);
  registerResources(server);
  registerPrompts(server);
}
