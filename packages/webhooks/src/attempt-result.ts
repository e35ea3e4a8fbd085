/** Milliseconds of each phase of an attempt, integers; null where it did not take place (a literal, a kept connection). */
export type AttemptTimings = {
  dnsMs: number | null;
  tcpMs: number | null;
  tlsMs: number | null;
  /** From the connection being ready to the head of the answer. */
  firstByteMs: number | null;
  totalMs: number;
};

/** Classes an attempt's error begins with. */
export type AttemptErrorClass =
  | 'ADDRESS_REFUSED'
  | 'DNS'
  | 'TIMEOUT'
  | 'TLS'
  | 'CONNECTION_REFUSED'
  | 'CONNECTION_RESET'
  | 'CONNECTION_FAILED'
  | 'PROTOCOL'
  | 'ABORTED';

/** What became of one attempt. */
export type AttemptResult = {
  at: Date;
  /** The answer's status; null when no head arrived. */
  statusCode: number | null;
  durationMs: number;
  /**
   * `CLASS: sentence`; null when an answer arrived whole (or as far as it is read), whatever its status. Beside a status:
   * what happened to the body.
   */
  error: string | null;
  /** The address connected to, or tried first; null when none was. */
  address: string | null;
  timings: AttemptTimings;
  /** The first bytes of the answer's body as they came, not decompressed. */
  answer: Buffer;
  answerTruncated: boolean;
};
