//! Line plots as SVG with a logarithmic x axis, readable on GitHub's light and dark pages.
//!
//! GitHub shows an SVG as an image. It can query the reader's colour scheme, and its background is transparent.

use std::fmt::Write as _;

/// One line of a plot, with its points in the order of x.
pub struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

pub struct Plot {
    pub title: String,
    /// The labels of the axes.
    pub x: &'static str,
    pub y: &'static str,
    /// Whether y is logarithmic, for values that span orders of magnitude.
    pub logarithmic: bool,
    pub lines: Vec<Line>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 48.0;
const BOTTOM: f64 = 52.0;
/// The height of a line's name.
const NAME_HEIGHT: f64 = 15.0;

/// Colours for light and dark pages that colour-blind readers can tell apart.
const COLOURS: [(&str, &str); 6] = [
    ("#0969da", "#58a6ff"),
    ("#bc4c00", "#f0883e"),
    ("#1a7f37", "#3fb950"),
    ("#8250df", "#bc8cff"),
    ("#bf3989", "#f778ba"),
    ("#57606a", "#8b949e"),
];

impl Plot {
    pub fn draw(&self) -> String {
        let mut svg = String::new();
        self.head(&mut svg);
        let scale = Scale::new(self);
        self.axes(&mut svg, &scale);
        let names = self.places_of_names(&scale);
        for (number, (line, place)) in self.lines.iter().zip(names).enumerate() {
            line.draw(&mut svg, &scale, number % COLOURS.len(), place);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn head(&self, svg: &mut String) {
        let styles = |dark: bool| -> String {
            let pick = |(light, night): (&str, &str)| if dark { night.to_owned() } else { light.to_owned() };
            let lines = COLOURS.iter().enumerate().map(|(n, colour)| {
                let colour = pick(*colour);
                format!(".l{n}{{stroke:{colour}}}.f{n}{{fill:{colour}}}")
            });
            let text = pick(("#1f2328", "#e6edf3"));
            let grid = pick(("#d0d7de", "#30363d"));
            format!("text{{fill:{text}}}.g{{stroke:{grid}}}{}", lines.collect::<String>())
        };
        let _ = write!(
            svg,
            r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}">
<style>text{{font:12px -apple-system,'Segoe UI',Helvetica,Arial,sans-serif}}.t{{font-size:15px;font-weight:600}}.e{{text-anchor:end}}.m{{text-anchor:middle}}polyline{{fill:none;stroke-width:2;stroke-linejoin:round}}{light}@media (prefers-color-scheme:dark){{{dark}}}</style>
<text class="t" x="{LEFT}" y="22">{title}</text>
<text x="{LEFT}" y="{under}">{y}</text>
<text class="m" x="{middle}" y="{bottom}">{x}</text>
"#,
            title = escaped(&self.title),
            light = styles(false),
            dark = styles(true),
            y = escaped(self.y),
            x = escaped(self.x),
            under = TOP - 8.0,
            middle = (LEFT + WIDTH - RIGHT) / 2.0,
            bottom = HEIGHT - 12.0,
        );
    }

    fn axes(&self, svg: &mut String, scale: &Scale) {
        for value in &scale.ticks {
            let y = scale.y(*value);
            let _ = writeln!(
                svg,
                r#"<line class="g" x1="{LEFT}" y1="{y:.1}" x2="{:.1}" y2="{y:.1}"/><text class="e" x="{:.1}" y="{:.1}">{}</text>"#,
                WIDTH - RIGHT,
                LEFT - 8.0,
                y + 4.0,
                shown(*value)
            );
        }
        for value in &scale.columns {
            let x = scale.x(*value);
            let _ = writeln!(
                svg,
                r#"<text class="m" x="{x:.1}" y="{:.1}">{}</text>"#,
                HEIGHT - BOTTOM + 18.0,
                shown(*value)
            );
        }
    }

    /// The y coordinates of the names at the ends of the lines, moved apart where they would overlap.
    fn places_of_names(&self, scale: &Scale) -> Vec<f64> {
        let ends = self.lines.iter().map(|line| line.points.last().map_or(TOP, |(_, y)| scale.y(*y)));
        let mut order: Vec<(usize, f64)> = ends.enumerate().collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        let mut places = vec![0.0; order.len()];
        let room = |after: usize| HEIGHT - BOTTOM - NAME_HEIGHT * after as f64;
        let mut least = TOP;
        for (rank, (line, end)) in order.iter().enumerate() {
            let place = end.max(least).min(room(order.len() - 1 - rank)).max(least);
            places[*line] = place;
            least = place + NAME_HEIGHT;
        }
        places
    }
}

impl Line {
    fn draw(&self, svg: &mut String, scale: &Scale, colour: usize, name_at: f64) {
        let places: Vec<(f64, f64)> = self.points.iter().map(|(x, y)| (scale.x(*x), scale.y(*y))).collect();
        let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        let _ = writeln!(svg, r#"<polyline class="l{colour}" points="{}"/>"#, path.join(" "));
        for (x, y) in &places {
            let _ = writeln!(svg, r#"<circle class="f{colour}" cx="{x:.1}" cy="{y:.1}" r="3"/>"#);
        }
        let last = self.points.last().map_or(f64::NAN, |(_, y)| *y);
        let _ = writeln!(
            svg,
            r#"<text class="f{colour}" x="{:.1}" y="{:.1}">{} {}</text>"#,
            WIDTH - RIGHT + 10.0,
            name_at + 4.0,
            escaped(&self.name),
            shown(last)
        );
    }
}

/// Maps values to coordinates.
struct Scale {
    columns: Vec<f64>,
    ticks: Vec<f64>,
    logarithmic: bool,
}

impl Scale {
    fn new(plot: &Plot) -> Self {
        let points = || plot.lines.iter().flat_map(|line| line.points.iter());
        let mut columns: Vec<f64> = points().map(|(x, _)| *x).collect();
        columns.sort_by(f64::total_cmp);
        columns.dedup();
        let most = points().map(|(_, y)| *y).fold(0.0, f64::max);
        let least = points().map(|(_, y)| *y).filter(|y| *y > 0.0).fold(most, f64::min);
        let ticks = if plot.logarithmic { decades(least, most) } else { steps(most) };
        Self { columns, ticks, logarithmic: plot.logarithmic }
    }

    /// Always logarithmic, because sizes and numbers of clients grow by factors.
    fn x(&self, value: f64) -> f64 {
        let (first, last) = (self.columns.first().copied().unwrap_or(1.0), self.columns.last().copied().unwrap_or(1.0));
        let share = if last > first { (value / first).ln() / (last / first).ln() } else { 0.5 };
        LEFT + 16.0 + share * (WIDTH - RIGHT - LEFT - 32.0)
    }

    fn y(&self, value: f64) -> f64 {
        let (low, high) = (self.ticks.first().copied().unwrap_or(0.0), self.ticks.last().copied().unwrap_or(1.0));
        let share = if self.logarithmic {
            (value.max(low) / low).ln() / (high / low).ln()
        } else {
            (value - low) / (high - low)
        };
        HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM)
    }
}

/// The ticks 1, 2, 5, 10, … that enclose all values.
fn decades(least: f64, most: f64) -> Vec<f64> {
    let steps = (-3..9).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)));
    let all: Vec<f64> = steps.collect();
    let first = all.iter().rposition(|step| *step <= least).unwrap_or(0);
    let last = all.iter().position(|step| *step >= most).unwrap_or(all.len() - 1);
    all[first..=last.max(first + 1)].to_vec()
}

/// Ticks from 0 in four to eight round steps.
fn steps(most: f64) -> Vec<f64> {
    let rough = 10_f64.powf((most.max(1e-6) / 4.0).log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|digit| digit * rough).into_iter().find(|step| most / step <= 8.0).unwrap_or(most);
    (0..=(most / step).ceil() as u32).map(|n| f64::from(n) * step).collect()
}

/// Abbreviates a number: 1500 becomes 1.5k.
pub fn shown(value: f64) -> String {
    let (scaled, unit) = match value.abs() {
        size if size >= 1e6 => (value / 1e6, "M"),
        size if size >= 1e3 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    let digits = if scaled.abs() >= 100.0 || scaled.fract() == 0.0 { 0 } else { 1 };
    format!("{scaled:.digits$}{unit}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(logarithmic: bool) -> Plot {
        let line = |name: &str, ys: [f64; 3]| Line {
            name: name.to_owned(),
            points: [1000.0, 10_000.0, 100_000.0].into_iter().zip(ys).collect(),
        };
        let lines = vec![line("recall", [4.0, 5.0, 9.0]), line("list", [4.1, 5.1, 9.1])];
        Plot { title: "Latency <against> size".to_owned(), x: "facts", y: "ms", logarithmic, lines }
    }

    #[test]
    fn all_values_are_within_the_axes() {
        for logarithmic in [false, true] {
            let plot = plot(logarithmic);
            let scale = Scale::new(&plot);
            for (x, y) in plot.lines.iter().flat_map(|line| &line.points) {
                assert!((LEFT..=WIDTH - RIGHT).contains(&scale.x(*x)));
                assert!((TOP..=HEIGHT - BOTTOM).contains(&scale.y(*y)));
            }
        }
    }

    #[test]
    fn names_of_close_lines_do_not_overlap() {
        let plot = plot(false);
        let places = plot.places_of_names(&Scale::new(&plot));
        assert!((places[0] - places[1]).abs() >= NAME_HEIGHT);
    }

    #[test]
    fn text_is_escaped_and_both_colour_schemes_are_present() {
        let svg = plot(false).draw();
        assert!(svg.contains("Latency &lt;against> size"));
        assert!(svg.contains("prefers-color-scheme:dark"));
    }

    #[test]
    fn large_numbers_are_abbreviated() {
        assert_eq!(shown(1_000_000.0), "1M");
        assert_eq!(shown(1500.0), "1.5k");
        assert_eq!(shown(0.25), "0.2");
        assert_eq!(shown(20.0), "20");
    }
}
