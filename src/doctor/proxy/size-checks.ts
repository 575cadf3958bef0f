import { type Answer, ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { pass, warn } from '../judgements.ts';
import type { Probe, Subject } from '../subject.ts';
import { type McpCaller, mcpHeaders, message } from './mcp-caller.ts';
import { anonymousPost, documentOf, hintsFor, isPage, judgeUnanswered } from './way.ts';

/** Sizes of tokens that are tried, in bytes: what a token with many groups takes, and what every proxy allows. */
const tokenBytes = [4_000, 8_000] as const;

/** A request no proxy with usual defaults takes for small, in bytes. */
const largeBodyBytes = 1_500_000;

/** Statuses with which a header is refused for its size; 494 is nginx's own. */
const tooLarge = [400, 413, 414, 431, 494, 502];

function isTooLarge(answer: Answer, usual: number): boolean {
  return answer.kind === 'unanswered' || (answer.status !== usual && tooLarge.includes(answer.status));
}

function withToken(subject: Subject, bytes: number): Promise<Answer> {
  return ask(subject, subject.url, {
    method: 'POST',
    headers: { ...mcpHeaders, authorization: `Bearer ${'a'.repeat(bytes)}` },
    body: message('ping'),
  });
}

/** Tokens of a usual size fit through. */
export const headerSizeCheck: Check = {
  id: 'PROXY-HEADER-SIZE',
  section: 'proxy',
  title: 'A token of 8,000 bytes fits through',
  clause: 'RFC 9110 section 5.4',
  async judge(subject) {
    const usual = await subject.fact(anonymousPost);
    if (usual.kind === 'unanswered') return judgeUnanswered(usual);
    for (const bytes of tokenBytes) {
      const answer = await withToken(subject, bytes);
      if (!isTooLarge(answer, usual.status)) continue;
      const how =
        answer.kind === 'answered'
          ? `with status ${answer.status}`
          : `by cutting the connection (${answer.why})`;
      return {
        verdict: bytes === tokenBytes[0] ? 'fail' : 'warn',
        saw: `A token of ${bytes} bytes is refused ${how}.`,
        fix: 'Raise the limit for one header line to 16 KiB or more, or issue smaller tokens.',
        ...(await hintsFor(subject, 'header_size')),
      };
    }
    return pass(`A token of ${tokenBytes[1]} bytes arrived.`);
  },
};

/**
 * Requests of a usual size fit through. With a login it is the server that reads them to the end; without one it may
 * refuse before, and who cuts the line then cannot be told.
 * @param caller the probe that speaks MCP
 */
export function bodySizeCheck(caller: Probe<McpCaller>): Check {
  return {
    id: 'PROXY-BODY-SIZE',
    section: 'proxy',
    title: 'A request of 1.5 MB fits through',
    clause: 'RFC 9110 section 15.5.14',
    async judge(subject) {
      const found = await subject.fact(caller);
      const headers = found.kind === 'speaks' ? found.headers : mcpHeaders;
      const answer = await ask(subject, subject.url, {
        method: 'POST',
        headers,
        body: message('ping', { padding: 'a'.repeat(largeBodyBytes) }),
      });
      if (answer.kind === 'unanswered') return judgeUnanswered(answer);
      const { status } = answer;
      if (status >= 500)
        return warn(
          `A request of 1.5 MB is answered with status ${status}.`,
          'Raise the limit of the proxy, and let it write to the folder in which it keeps large requests. Where the server refuses before it has read all, keep lines to it open (nginx: proxy_http_version 1.1; proxy_set_header Connection "";).',
          await hintsFor(subject, 'body_size'),
        );
      if (status !== 413) return pass(`A request of 1.5 MB was answered with status ${status}.`);
      const isServer = !isPage(answer) && documentOf({ ...answer, status: 200 }) !== undefined;
      if (isServer) return pass('The server itself refuses a request of 1.5 MB: that is its own limit.');
      return warn(
        'A request of 1.5 MB is refused on the way (413): tools that take files or long texts fail.',
        'Raise the limit to that of the server (Gatehouse: 4 MB).',
        await hintsFor(subject, 'body_size'),
      );
    },
  };
}
