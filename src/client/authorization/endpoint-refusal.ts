/** The refusal of an authorization endpoint: an OAuth error, or the title of an error page. */
export interface EndpointRefusal {
  error?: string | undefined;
  description?: string | undefined;
  title?: string | undefined;
}

/** Sends the authorization request with this `Accept` header. */
type Ask = (accept: string) => Promise<Response>;

/** Maximum length of an error page, in characters. */
const maxPageLength = 64 * 1024;

async function readPage(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    text += part.value;
    if (text.length > maxPageLength) await reader?.cancel();
  }
  return text;
}

/** Returns the OAuth error of a JSON body, if it is one. */
function readForProgram(text: string): EndpointRefusal | undefined {
  try {
    const { error, error_description: description } = Object(JSON.parse(text)) as Record<string, unknown>;
    if (typeof error !== 'string') return undefined;
    return { error, ...(typeof description === 'string' ? { description } : {}) };
  } catch {
    return undefined;
  }
}

/**
 * Requests the JSON form of a refusal that came as a page for people.
 * @param ask sends the same request
 * @param status status of the refusal
 * @returns undefined if there is no such form, or the response has another status now
 */
export async function askForRefusal(ask: Ask, status: number): Promise<EndpointRefusal | undefined> {
  try {
    const response = await ask('application/json');
    if (response.status === status) return readForProgram(await readPage(response));
    await response.body?.cancel();
  } catch {
    // Only the page is known then.
  }
  return undefined;
}

/**
 * Reads the reason why an authorization endpoint rejects a request. OAuth defines no format for errors that
 * cannot be sent to the redirect URI: most servers show a page, and many return JSON to programs.
 * @param response the refusal of a request for a page
 * @param ask sends the same request
 * @see RFC 6749 section 4.1.2.1
 */
export async function readEndpointRefusal(response: Response, ask: Ask): Promise<EndpointRefusal> {
  const text = await readPage(response).catch(() => '');
  const title = /<title[^>]*>([^<]{1,200})</i.exec(text)?.[1]?.trim();
  return readForProgram(text) ?? (await askForRefusal(ask, response.status)) ?? { title };
}
