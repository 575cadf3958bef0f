/** What the name of a header is: a token (RFC 9110 sections 5.1 and 5.6.2). */
export const headerNameForm = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

/** What the value of a header may be, empty included, a byte a character (RFC 9110 section 5.5). */
export const headerValueForm = /^[\t\x20-\x7e\x80-\xff]*$/;
