/** The fill pattern for fading memories; it differs from a solid fill without relying on colour. */
export function Hatch({ id }: { id: string }) {
  return (
    <defs>
      <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <rect width="5" height="5" className="fill-fading-wash" />
        <rect width="2" height="5" className="fill-fading" />
      </pattern>
    </defs>
  )
}
