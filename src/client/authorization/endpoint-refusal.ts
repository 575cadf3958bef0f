/** What an authorization endpoint says that refuses a request: the code and the words of OAuth, or the title of a page. */
export interface EndpointRefusal {
  error?: string | undefined;
  description?: string | undefined;
  title?: string | undefined;
}

/** Sends the authorization request, asking for an answer of this media type. */
type Ask = (accept: string) => Promise<Response>;

/** As much of an error page as is looked through, in characters. */
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

/** @returns undefined for what is no refusal that is meant for programs */
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
 * Asks once more for a refusal that a person was shown a page for, in the form that is meant for programs.
 * @param ask sends the same request
 * @param status of the refusal
 * @returns undefined where there is no such form, or the answer is another one by now
 */
export async function askForRefusal(ask: Ask, status: number): Promise<EndpointRefusal | undefined> {
  try {
    const response = await ask('application/json');
    if (response.status === status) return readForProgram(await readPage(response));
    await response.body?.cancel();
  } catch {
    // The page is all there is then.
  }
  return undefined;
}

/**
 * Reads why an authorization endpoint refuses a request. Its standard has no form for what cannot be sent to the redirect
 * URI: most servers show a page, many tell the same to programs as JSON.
 * @param response the refusal, to a request for a page
 * @param ask sends the same request
 * @see RFC 6749 section 4.1.2.1
 */
export async function readEndpointRefusal(response: Response, ask: Ask): Promise<EndpointRefusal> {
  const text = await readPage(response).catch(() => '');
  const title = /<title[^>]*>([^<]{1,200})</i.exec(text)?.[1]?.trim();
  return readForProgram(text) ?? (await askForRefusal(ask, response.status)) ?? { title };
}
