import { ask } from '../ask.ts';
import type { Check } from '../check.ts';
import { describeOutcome, sendAuthorization } from '../login/authorization-outcome.ts';
import { foundServer, judgeLost } from '../login/found-server.ts';
import type { Subject } from '../subject.ts';
import { metadataDocumentFaults, metadataUrlFaults } from './metadata-document.ts';

const untold = 'No URL of a client ID metadata document was given.';

/** The document of the user's own client. */
export const metadataDocumentCheck: Check = {
  id: 'REG-CIMD-DOCUMENT',
  section: 'registration',
  title: 'The metadata document of the client can be read and names its own URL',
  clause: 'MCP authorization "Client ID Metadata Documents"',
  async judge(subject) {
    const url = subject.login?.clientIdMetadataUrl;
    if (url === undefined) return { verdict: 'skip', saw: untold };
    const wrong = metadataUrlFaults(url);
    if (wrong.length > 0)
      return {
        verdict: 'fail',
        saw: `The URL ${wrong.join(', and ')}: ${url}.`,
        fix: 'Publish the document at an https URL with a path, and use exactly that URL as client_id.',
      };
    const answer = await ask(subject, url, { headers: { accept: 'application/json' } });
    const { evidence } = answer;
    if (answer.kind === 'unanswered')
      return {
        verdict: 'fail',
        saw: `${url} gave no answer: ${answer.why}.`,
        fix: 'Make the document reachable from the internet: authorization servers fetch it.',
        evidence,
      };
    const faults = metadataDocumentFaults(url, answer);
    if (faults.length === 0)
      return { verdict: 'pass', saw: `${url} holds a document that names itself.`, evidence };
    return {
      verdict: 'fail',
      saw: `In the document at ${url}: ${faults.join('; ')}.`,
      fix: 'Serve application/json with status 200, without redirects, with client_id equal to its URL byte for byte, client_name and redirect_uris.',
      evidence,
    };
  },
};

/** Whether the client ID metadata document of the user is the client at this server. */
async function isDocumentRead(subject: Subject): Promise<boolean> {
  const way = await subject.fact(foundServer);
  return way.kind === 'found' && way.found.authorizationServer.client_id_metadata_document_supported === true;
}

/** The authorization server fetches it. */
export const metadataDocumentReadCheck: Check = {
  id: 'REG-CIMD-ACCEPTED',
  section: 'registration',
  title: "The authorization server takes the client's metadata document for its registration",
  clause: 'MCP authorization "Client ID Metadata Documents"; RFC 8252 section 7.3',
  active: true,
  async judge(subject) {
    const url = subject.login?.clientIdMetadataUrl;
    if (url === undefined) return { verdict: 'skip', saw: untold };
    const way = await subject.fact(foundServer);
    if (way.kind === 'lost') return judgeLost(way.why);
    if (!(await isDocumentRead(subject)))
      return {
        verdict: 'skip',
        saw: 'The authorization server does not announce client_id_metadata_document_supported.',
      };
    const outcome = await sendAuthorization(subject, way.found, {
      issuer: way.found.authorizationServer.issuer,
      clientId: url,
      redirectUris: [],
      source: 'metadata_document',
    });
    const { evidence } = outcome;
    const saw = `An authorization request with client_id ${url} and a loopback redirect URI on a port of its own ${describeOutcome(outcome)}.`;
    if (outcome.kind === 'code' || outcome.kind === 'onward' || outcome.kind === 'page')
      return { verdict: 'pass', saw, evidence };
    if (outcome.kind === 'none') return { verdict: 'unknown', saw, evidence };
    return {
      verdict: 'fail',
      saw,
      fix: 'The authorization server has to reach the document from where it runs (proxy, firewall), and to let any port match loopback redirect URIs in it.',
      evidence,
      because: 'REG-CIMD-DOCUMENT',
    };
  },
};
