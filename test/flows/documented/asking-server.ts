import { acceptedContent, inputRequired, McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';

const place = z.object({ city: z.string() });

export function createWeather(): McpServer {
  const server = new McpServer({ name: 'weather', version: '1.0.0' });
  server.registerTool('forecast', { description: 'The weather where you say' }, ({ mcpReq }) => {
    const answer = acceptedContent(mcpReq.inputResponses, 'place', place);
    if (answer) return { content: [{ type: 'text', text: `Sunny in ${answer.city}` }] };
    if (mcpReq.inputResponses) return { content: [{ type: 'text', text: 'As you like.' }] };
    const question = inputRequired.elicit({ message: 'Which city?', requestedSchema: place });
    return inputRequired({ inputRequests: { place: question } });
  });
  return server;
}
