// @vitest-environment happy-dom
import { act, renderHook } from '@testing-library/react'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { toast, UNDO_MS, useToasts, VISIBLE_MS } from './toast'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('an action can be undone for half a minute, unless another action replaces it', () => {
  const { result } = renderHook(useToasts)
  const texts = () => result.current.map(({ text }) => text)
  const undo = { action: { label: 'Undo', run: () => undefined } }
  act(() => void toast('Confirmed.', undo))
  act(() => void toast('Copied.'))
  act(() => void vi.advanceTimersByTime(VISIBLE_MS))
  expect(texts()).toEqual(['Confirmed.'])
  act(() => void toast('Fact forgotten.', undo))
  expect(texts()).toEqual(['Fact forgotten.'])
  act(() => void vi.advanceTimersByTime(UNDO_MS - 1))
  expect(texts()).toEqual(['Fact forgotten.'])
  act(() => void vi.advanceTimersByTime(1))
  expect(texts()).toEqual([])
})
