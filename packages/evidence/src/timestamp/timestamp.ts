/** A verified time-stamp. */
export type Timestamp = {
  /** The authority's whole answer (TimeStampResp, DER), byte for byte. */
  tokenBytes: Uint8Array;
  /** When the authority says it saw the digest. */
  genTime: Date;
  /** How far `genTime` may be off; null when the authority does not say. */
  accuracyMs: number | null;
  /** The token's number at its authority: lower-case hex of whole bytes, none of them a leading zero. */
  serial: string;
  /** The policy's object identifier. */
  policy: string;
  /** The name in the signer's certificate. The development authority's has "development" in it. */
  authority: string;
  /** True for a token of this project's own authority, which proves nothing to anybody else. */
  development: boolean;
  /** PEM: the signer's certificate, then each one's issuer, up to the topmost that is known. */
  certificates: string[];
};
