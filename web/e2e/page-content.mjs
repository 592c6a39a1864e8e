// Reads what a page shows, for comparison with the server's data.

/** The ids of the memories that a list shows. */
export async function shownIds(page, within = page.locator('main')) {
  const addresses = await within
    .locator('[data-row] a[href^="/memory/"], [data-row] a[href^="/entities/"]')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')))
  return addresses.map((address) => address.split('/').pop())
}

/** Waits until a list shows exactly these memories, in this order. */
export async function showsExactly(page, list, ids) {
  await page.waitForFunction(
    ([label, wanted]) => {
      const root = label ? document.querySelector(`main [aria-label="${label}"]`) : document.querySelector('main')
      const shown = [
        ...(root?.querySelectorAll('[data-row] a[href^="/memory/"], [data-row] a[href^="/entities/"]') ?? []),
      ].map((link) => link.getAttribute('href').split('/').pop())
      return JSON.stringify(shown) === wanted
    },
    [list, JSON.stringify(ids)],
  )
}

/** A figure of the overview: its total and its parts by name. */
export async function figure(page, name) {
  const card = page.locator('main .card').filter({ has: page.getByRole('heading', { name, exact: true }) })
  const number = (text) => Number(text.replace(/[^\d]/g, ''))
  const names = await card.locator('dt').allInnerTexts()
  const values = await card.locator('dd').allInnerTexts()
  return {
    value: number(await card.locator('p').first().innerText()),
    parts: Object.fromEntries(names.map((part, index) => [part, number(values[index])])),
  }
}

/** Whether the number after `label` equals `value`, with a tolerance for rounding and the passage of time. */
export function near(text, label, value) {
  const found = new RegExp(`${label}\\s*(-?\\d+\\.\\d+)`).exec(text)
  return found !== null && Math.abs(Number(found[1]) - value) < 0.002
}

export const grouped = (value) => value.toLocaleString('en')
