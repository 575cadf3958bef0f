/** Headers of a stream that no proxy on the way may hold back, change or cache. */
const streamHeaders = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
};

const encoder = new TextEncoder();

/**
 * Gives an answer as it comes when it comes soon. Otherwise begins an event stream, keeps it alive with comments and
 * puts the answer into it: proxies cut connections on which nothing moves.
 * @param answer the answer on its way; JSON or an event stream
 * @param afterMs how long to wait, and the pause between comments
 * @see MCP 2026-07-28 streamable HTTP (B5-13)
 */
export async function answerInTime(answer: Promise<Response>, afterMs: number): Promise<Response> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, afterMs, undefined);
  });
  const soon = await Promise.race([answer, late]).finally(() => clearTimeout(timer));
  return soon ?? new Response(streamOf(answer, afterMs), { headers: streamHeaders });
}

function streamOf(answer: Promise<Response>, pauseMs: number): ReadableStream<Uint8Array> {
  let comments: NodeJS.Timeout | undefined;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const comment = (): void => controller.enqueue(encoder.encode(': waiting\n\n'));
      comments = setInterval(comment, pauseMs);
      answer
        .then(async (response) => {
          clearInterval(comments);
          for await (const chunk of eventsOf(response)) controller.enqueue(chunk);
          controller.close();
        })
        .catch((error: unknown) => {
          clearInterval(comments);
          controller.error(error);
        });
    },
    cancel() {
      clearInterval(comments);
    },
  });
}

async function* eventsOf(response: Response): AsyncIterable<Uint8Array> {
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) {
    if (response.body) yield* response.body;
    return;
  }
  const text = await response.text();
  if (text !== '') yield encoder.encode(`event: message\ndata: ${JSON.stringify(JSON.parse(text))}\n\n`);
}
