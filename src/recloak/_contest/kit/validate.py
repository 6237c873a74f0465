"""Check a submission before it is sent: python validate.py SUBMISSION.csv [questions.csv]; needs nothing but Python."""

import csv
import math
import sys
from pathlib import Path


def problems(submission: str, questions: str) -> list[str]:
    """Return what is wrong with a submission, one sentence each; an empty list means that it can be sent."""
    with Path(questions).open(newline="", encoding="utf-8") as file:
        wanted = {row["question"] for row in csv.DictReader(file)}
    with Path(submission).open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != ["question", "prediction"]:
            return [f"the first line must be question,prediction, got {','.join(reader.fieldnames or [])}"]
        found: set[str] = set()
        wrong = [one for line, row in enumerate(reader, 2) if (one := _problem(line, row, wanted, found))]
    if len(found) < len(wanted):
        wrong.append(
            f"{len(wanted) - len(found)} questions have no row; leave the prediction empty where there is none"
        )
    return wrong


def _problem(line: int, row: dict[str, str], wanted: set[str], found: set[str]) -> str:
    question, prediction = row["question"], row["prediction"]
    if question not in wanted:
        return f"line {line}: there is no question {question!r}"
    if question in found:
        return f"line {line}: question {question} stands twice"
    found.add(question)
    try:
        fine = prediction == "" or math.isfinite(float(prediction))
    except (TypeError, ValueError):
        fine = False
    return "" if fine else f"line {line}: a prediction must be a finite number or empty, got {prediction!r}"


def main(arguments: list[str]) -> int:
    """Print the problems and return 0 if there are none."""
    if not 1 <= len(arguments) <= 2:
        print(__doc__, file=sys.stderr)
        return 2
    questions = arguments[1] if len(arguments) == 2 else str(Path(__file__).with_name("questions.csv"))
    found = problems(arguments[0], questions)
    for one in found[:20]:
        print(one)
    print(f"{len(found)} problems" if found else "The submission can be sent.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
