/** The trader details that VIES can match, as spelled in the API. */
export const TRADER_FIELDS = ['name', 'street', 'postal_code', 'city', 'company_type'] as const;
export type TraderField = (typeof TRADER_FIELDS)[number];

/** How VIES writes a company type: a member state and a number, e.g. ES-1. VIES refuses a request with anything else. */
export const COMPANY_TYPE = /^[A-Z]{2}-[1-9][0-9]?$/;

/** The trader details that the caller gives; VIES compares them approximately. */
export type Trader = Partial<Record<TraderField, string>>;

/** VIES's result for each detail; `null` where it stated none. */
export type TraderMatch = Record<TraderField, 'valid' | 'invalid' | 'not_processed' | null>;
