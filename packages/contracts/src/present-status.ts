import { type MemberStateHealth, STATUS_WINDOW_MS } from '@vat/domain';

/** GET /v1/status. */
export const presentStatus = (states: readonly MemberStateHealth[], at: Date) => ({
  generated_at: at.toISOString(),
  window_seconds: STATUS_WINDOW_MS / 1_000,
  member_states: states.map((state) => ({
    member_state: state.memberState,
    health: state.health,
    asks: state.asks,
    answered: state.answered,
    saturated: state.saturated,
    unavailable: state.unavailable,
    p50_ms: state.p50Ms,
    p95_ms: state.p95Ms,
    queue_depth: state.queueDepth,
    oldest_wait_ms: state.oldestWaitMs,
  })),
});
