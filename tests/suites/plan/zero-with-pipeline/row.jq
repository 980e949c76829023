(.rules[] | select(.rule == "zero-with-pipeline")) as $rule
| if (.plans | length) > 0 then "\($rule.verdict): \($rule.reason)"
  else "refused: \(.remedies[0].text // .remedies[0])" end
