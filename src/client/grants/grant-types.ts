/** Names of extension grants at the token endpoint (RFC 6749 section 4.5). */
export const grantTypes = {
  /** RFC 7523 section 2.1. */
  jwtBearer: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
  /** RFC 8693 section 2.1. */
  tokenExchange: 'urn:ietf:params:oauth:grant-type:token-exchange',
  /** RFC 8628 section 3.4. */
  deviceCode: 'urn:ietf:params:oauth:grant-type:device_code',
} as const;
