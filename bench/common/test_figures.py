"""When a report fails: `python3 -B -m unittest common.test_figures`."""

import contextlib
import io
import unittest

from .figures import Report


class Goals(unittest.TestCase):
    def test_a_missed_goal_ends_the_program_with_an_error(self):
        report = Report("test")
        with contextlib.redirect_stdout(io.StringIO()):
            report.note("no goal", 9, "ms")
            report.at_most("fast enough", 1, "ms", 1)
            report.exit_if_missed()
            report.at_least("too few", float("nan"), "/s", 1)
        with self.assertRaisesRegex(SystemExit, "goal missed: too few: nan /s"):
            report.exit_if_missed()


if __name__ == "__main__":
    unittest.main()
