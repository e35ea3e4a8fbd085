import type { Answer, CheckRequest, EnrichmentSubject } from '@vat/domain';
import { splitVatNumber } from '../split-vat-number.js';

/** What the national sources are told about an answer; null when they are not asked at all: test requests, malformed numbers. */
export const enrichmentSubject = (request: CheckRequest, answer: Answer): EnrichmentSubject | null =>
  request.test || answer.verdict === 'malformed'
    ? null
    : {
        memberState: request.memberState,
        national: request.national,
        valid: answer.verdict === 'valid',
        name: answer.name,
        address: answer.address,
        requester: request.requester === null ? null : splitVatNumber(request.requester),
        trader: request.trader,
        registerId: null,
        accountId: request.accountId,
        callerWaits: request.origin === 'direct' && request.state === 'waiting',
      };
