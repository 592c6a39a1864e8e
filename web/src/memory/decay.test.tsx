// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import type { Decay } from '../api/schema'
import { DecayCurve } from '../charts/DecayCurve'
import { DecayLine } from './DecayLine'

afterEach(cleanup)

const decay: Decay = {
  confidence: 0.9,
  rate: 0.008,
  days_since_confirmed: 100.5,
  effective_confidence: 0.403,
  half_life_days: 86.6,
  retrieval_threshold: 0.2,
  expiry_threshold: 0.05,
  fades_on: '2026-04-01T00:00:00Z',
  expires_on: '2026-09-01T00:00:00Z',
  if_confirmed_today: { effective_confidence: 0.9, fades_on: null, expires_on: null },
  curve: [
    { at: '2026-01-01T00:00:00Z', effective_confidence: 0.403, if_confirmed: 0.9 },
    { at: '2026-04-01T00:00:00Z', effective_confidence: 0.196, if_confirmed: 0.44 },
    { at: '2026-06-30T00:00:00Z', effective_confidence: 0.095, if_confirmed: 0.21 },
  ],
}

test('the formula shows the server’s numbers in one line', () => {
  const { container } = render(<DecayLine decay={decay} />)
  expect(container.textContent).toBe('0.90 × e−0.008 × 100.5 = 0.403after 101 days without confirmation')
})

test('a permanent memory never fades, and an unconfirmed one has no confidence', () => {
  render(<DecayLine decay={{ ...decay, rate: 0 }} />)
  expect(screen.getByText(/stays at 0.90/)).toBeTruthy()
  render(<DecayLine decay={{ ...decay, days_since_confirmed: null }} />)
  expect(screen.getByText(/Never confirmed/)).toBeTruthy()
})

test('the curve marks the day it fades, describes both ends, and omits dates beyond its range', () => {
  const { container } = render(<DecayCurve decay={decay} />)
  expect(screen.getByRole('img').getAttribute('aria-label')).toContain('from 0.40 to 0.10, or 0.21 if confirmed today')
  expect(container.textContent).toContain('fades 1 Apr')
  expect(container.textContent).not.toContain('expires 1 Sep')
})
